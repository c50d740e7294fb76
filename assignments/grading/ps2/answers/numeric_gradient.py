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


# %% wrong: nudges of a copy are not put back
def numeric_gradient(f, x, step=1e-5):
    z = x.astype(float)
    gradient = np.zeros(x.shape)
    for i in np.ndindex(*x.shape):
        z[i] += step
        up = f(z)
        z[i] -= 2 * step
        down = f(z)
        gradient[i] = (up - down) / (2 * step)
    return gradient


# %% wrong: a step of its own, 1e-5
def numeric_gradient(f, x, step=1e-5):
    h = 1e-5
    gradient = np.zeros(x.shape)
    for i in np.ndindex(*x.shape):
        nudge = np.zeros(x.shape)
        nudge[i] = h
        gradient[i] = (f(x + nudge) - f(x - nudge)) / (2 * h)
    return gradient


# %% wrong: divides by 0.2, whatever the step
def numeric_gradient(f, x, step=1e-5):
    gradient = np.zeros(x.shape)
    for i in np.ndindex(*x.shape):
        nudge = np.zeros(x.shape)
        nudge[i] = step
        gradient[i] = (f(x + nudge) - f(x - nudge)) / 0.2
    return gradient


# %% wrong: half a step up, half a step down
def numeric_gradient(f, x, step=1e-5):
    gradient = np.zeros(x.shape)
    for i in np.ndindex(*x.shape):
        nudge = np.zeros(x.shape)
        nudge[i] = step / 2
        gradient[i] = (f(x + nudge) - f(x - nudge)) / step
    return gradient


# %% wrong: step grows with the number
def numeric_gradient(f, x, step=1e-5):
    gradient = np.zeros(x.shape)
    for i in np.ndindex(*x.shape):
        h = step * max(1.0, abs(x[i]))
        nudge = np.zeros(x.shape)
        nudge[i] = h
        gradient[i] = (f(x + nudge) - f(x - nudge)) / (2 * h)
    return gradient


# %% wrong: five points, not two
def numeric_gradient(f, x, step=1e-5):
    gradient = np.zeros(x.shape)
    for i in np.ndindex(*x.shape):
        e = np.zeros(x.shape)
        e[i] = step
        near = f(x + e) - f(x - e)
        far = f(x + 2 * e) - f(x - 2 * e)
        gradient[i] = (8 * near - far) / (12 * step)
    return gradient


# %% wrong: rows and columns only
def numeric_gradient(f, x, step=1e-5):
    gradient = np.zeros(x.shape)
    rows, columns = x.shape
    for i in range(rows):
        for j in range(columns):
            up, down = x.astype(float), x.astype(float)
            up[i, j] += step
            down[i, j] -= step
            gradient[i, j] = (f(up) - f(down)) / (2 * step)
    return gradient


# %% wrong: f gets a flat array
def numeric_gradient(f, x, step=1e-5):
    flat = x.ravel()
    steps = step * np.eye(flat.size)
    slopes = [(f(flat + e) - f(flat - e)) / (2 * step) for e in steps]
    return np.array(slopes).reshape(x.shape)


# %% wrong: f gets one number only
def numeric_gradient(f, x, step=1e-5):
    gradient = np.zeros(x.shape)
    for i in np.ndindex(*x.shape):
        rise = f(x[i] + step) - f(x[i] - step)
        gradient[i] = rise / (2 * step)
    return gradient


# %% wrong: all other numbers set to 0
def numeric_gradient(f, x, step=1e-5):
    gradient = np.zeros(x.shape)
    for i in np.ndindex(*x.shape):
        up, down = np.zeros(x.shape), np.zeros(x.shape)
        up[i] = x[i] + step
        down[i] = x[i] - step
        gradient[i] = (f(up) - f(down)) / (2 * step)
    return gradient


# %% wrong: equal numbers nudged together
def numeric_gradient(f, x, step=1e-5):
    gradient = np.zeros(x.shape)
    for i, number in np.ndenumerate(x):
        nudge = np.where(x == number, step, 0)
        gradient[i] = (f(x + nudge) - f(x - nudge)) / (2 * step)
    return gradient


# %% wrong: ravel copies if x is transposed
def numeric_gradient(f, x, step=1e-5):
    z = np.copy(x).astype(float)
    flat = z.ravel()
    gradient = np.zeros(x.shape)
    for n, i in enumerate(np.ndindex(*x.shape)):
        kept = flat[n]
        flat[n] = kept + step
        up = f(z)
        flat[n] = kept - step
        down = f(z)
        flat[n] = kept
        gradient[i] = (up - down) / (2 * step)
    return gradient


# %% wrong: works in single precision
def numeric_gradient(f, x, step=1e-5):
    x = x.astype(np.float32)
    gradient = np.zeros(x.shape)
    for i in np.ndindex(*x.shape):
        up, down = x.copy(), x.copy()
        up[i] += step
        down[i] -= step
        gradient[i] = (f(up) - f(down)) / (2 * step)
    return gradient


# %% wrong: x back only up to rounding
def numeric_gradient(f, x, step=1e-5):
    gradient = np.zeros(x.shape)
    for i in np.ndindex(*x.shape):
        x[i] += step
        up = f(x)
        x[i] -= 2 * step
        down = f(x)
        x[i] += step
        gradient[i] = (up - down) / (2 * step)
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


# %% right: a copy nudged in place and put back
def numeric_gradient(f, x, step=1e-5):
    z = np.array(x, dtype=float)
    gradient = np.zeros_like(z)
    for i in np.ndindex(z.shape):
        kept = z[i]
        z[i] = kept + step
        up = f(z)
        z[i] = kept - step
        down = f(z)
        z[i] = kept
        gradient[i] = (up - down) / (2 * step)
    return gradient


# %% right: np.where on a counter
def numeric_gradient(f, x, step=1e-5):
    number = np.arange(x.size).reshape(x.shape)
    gradient = np.empty(x.size)
    for n in range(x.size):
        up = f(np.where(number == n, x + step, x))
        down = f(np.where(number == n, x - step, x))
        gradient[n] = 0.5 * (up - down) / step
    return gradient.reshape(x.shape)


# %% right: .flat on copies
def numeric_gradient(f, x, step=1e-5):
    def moved(n, by):
        z = np.array(x, dtype=np.float64)
        z.flat[n] += by
        return z

    gradient = np.zeros(np.shape(x))
    for n in range(np.size(x)):
        change = f(moved(n, step)) - f(moved(n, -step))
        gradient.flat[n] = change / (step - -step)
    return gradient


# %% cheat: borrowed from scipy -> imports scipy
def numeric_gradient(f, x, step=1e-5):
    from scipy.optimize import approx_fprime

    flat = approx_fprime(x.ravel(), lambda z: f(z.reshape(x.shape)), step)
    return flat.reshape(x.shape)
