# %% wrong: to one side only
def numeric_gradient(f, x, step=1e-5):
    gradient = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        up = x.copy()
        up[place] += step
        gradient[place] = (f(up) - f(x)) / step
    return gradient


# %% wrong: divided by one step
def numeric_gradient(f, x, step=1e-5):
    gradient = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[place] += step
        down[place] -= step
        gradient[place] = (f(up) - f(down)) / step
    return gradient


# %% wrong: halved instead of divided by two steps
def numeric_gradient(f, x, step=1e-5):
    gradient = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[place] += step
        down[place] -= step
        gradient[place] = (f(up) - f(down)) / 2 * step
    return gradient


# %% wrong: everything nudged at once
def numeric_gradient(f, x, step=1e-5):
    slope = (f(x + step) - f(x - step)) / (2 * step)
    return np.full(x.shape, slope)


# %% wrong: whole rows nudged
def numeric_gradient(f, x, step=1e-5):
    gradient = np.zeros(x.shape)
    for i in range(len(x)):
        nudge = np.zeros(x.shape)
        nudge[i] = step
        gradient[i] = (f(x + nudge) - f(x - nudge)) / (2 * step)
    return gradient


# %% wrong: what was nudged stays nudged
def numeric_gradient(f, x, step=1e-5):
    gradient = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        x[place] += step
        up = f(x)
        x[place] -= 2 * step
        gradient[place] = (up - f(x)) / (2 * step)
    return gradient


# %% wrong: nudges pile up in a copy
def numeric_gradient(f, x, step=1e-5):
    gradient, up, down = np.zeros(x.shape), x.copy(), x.copy()
    for place in np.ndindex(x.shape):
        up[place] += step
        down[place] -= step
        gradient[place] = (f(up) - f(down)) / (2 * step)
    return gradient


# %% wrong: a step that rounding swallows
def numeric_gradient(f, x, step=1e-5):
    gradient, step = np.zeros(x.shape), 1e-13
    for place in np.ndindex(x.shape):
        nudge = np.zeros(x.shape)
        nudge[place] = step
        gradient[place] = (f(x + nudge) - f(x - nudge)) / (2 * step)
    return gradient


# %% wrong: flat
def numeric_gradient(f, x, step=1e-5):
    slopes = []
    for place in np.ndindex(x.shape):
        nudge = np.zeros(x.shape)
        nudge[place] = step
        slopes.append((f(x + nudge) - f(x - nudge)) / (2 * step))
    return np.array(slopes)


# %% wrong: up and down confused
def numeric_gradient(f, x, step=1e-5):
    gradient = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        nudge = np.zeros(x.shape)
        nudge[place] = step
        gradient[place] = (f(x - nudge) - f(x + nudge)) / (2 * step)
    return gradient


# %% right: in place, and put back
def numeric_gradient(f, x, step=1e-5):
    gradient = np.zeros_like(x)
    for place, old in np.ndenumerate(x.copy()):
        x[place] = old + step
        up = f(x)
        x[place] = old - step
        down = f(x)
        x[place] = old
        gradient[place] = (up - down) / (2 * step)
    return gradient


# %% right: rows of an identity matrix
def numeric_gradient(f, x, step=1e-5):
    nudges = step * np.eye(x.size).reshape(x.size, *x.shape)
    slopes = [f(x + n) - f(x - n) for n in nudges]
    return np.reshape(slopes, x.shape) / step / 2


# %% right: a flat copy
def numeric_gradient(f, x, step=1e-5):
    flat = x.ravel()
    result = np.empty(flat.size)
    for i in range(flat.size):
        ends = []
        for sign in (1, -1):
            moved = flat.copy()
            moved[i] = flat[i] + sign * step
            ends.append(f(moved.reshape(x.shape)))
        result[i] = (ends[0] - ends[1]) / (2 * step)
    return result.reshape(x.shape)


# %% cheat: borrowed from scipy -> imports scipy
def numeric_gradient(f, x, step=1e-5):
    from scipy.optimize import approx_fprime

    flat = approx_fprime(x.ravel(), lambda z: f(z.reshape(x.shape)), step)
    return flat.reshape(x.shape)
