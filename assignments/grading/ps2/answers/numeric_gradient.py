# %% wrong: to one side only
# nudge = np.zeros(x.shape) → up = x.copy()
# nudge[place] = step → up[place] += step
# (f(x + nudge) - f(x - nudge)) / (2 * step) → (f(up) - f(x)) / step
# %% wrong: divided by one step
    gradient = np.zeros(x.shape)
    for place in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[place] += step
        down[place] -= step
        gradient[place] = (f(up) - f(down)) / step
    return gradient
# %% wrong: halved instead of divided by two steps
# like: divided by one step
# (f(up) - f(down)) / step → (f(up) - f(down)) / 2 * step
# %% wrong: everything nudged at once
    slope = (f(x + step) - f(x - step)) / (2 * step)
    return np.full(x.shape, slope)
# %% wrong: whole rows nudged
# np.ndindex(x.shape) → range(len(x))
# %% wrong: what was nudged stays nudged
# like: divided by one step
# up, down = x.copy(), x.copy() → x[place] += step
# up[place] += step → up = f(x)
# down[place] -= step → x[place] -= 2 * step
# (f(up) - f(down)) / step → (up - f(x)) / (2 * step)
# %% wrong: nudges pile up in a copy
# - gradient = np.zeros(x.shape)
# + gradient, up, down = np.zeros(x.shape), x.copy(), x.copy()
# nudge = np.zeros(x.shape) → up[place] += step
# nudge[place] = step → down[place] -= step
# (x + nudge) - f(x - nudge) → (up) - f(down)
# %% wrong: a step that rounding swallows
# gradient = np.zeros(x.shape) → gradient, step = np.zeros(x.shape), 1e-13
# %% wrong: flat
    slopes = []
    for place in np.ndindex(x.shape):
        nudge = np.zeros(x.shape)
        nudge[place] = step
        slopes.append((f(x + nudge) - f(x - nudge)) / (2 * step))
    return np.array(slopes)
# %% wrong: up and down confused
# (x + nudge) - f(x - nudge) → (x - nudge) - f(x + nudge)
# %% wrong: nudges of a copy are not put back
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
#   def numeric_gradient(f, x, step=1e-5):
# +     h = 1e-5
# (x.shape): → (*x.shape):
# [place] = step → [place] = h
# 2 * step → 2 * h
# %% wrong: divides by 0.2, whatever the step
# (x.shape): → (*x.shape):
# (2 * step) → 0.2
# %% wrong: half a step up, half a step down
# (x.shape): → (*x.shape):
# [place] = step → [place] = step / 2
# (2 * step) → step
# %% wrong: step grows with the number
# -     for place in np.ndindex(x.shape):
# +     for place in np.ndindex(*x.shape):
# +         h = step * max(1.0, abs(x[place]))
# [place] = step → [place] = h
# 2 * step → 2 * h
# %% wrong: five points, not two
# (x.shape): → (*x.shape):
# -         gradient[place] = (f(x + nudge) - f(x - nudge)) / (2 * step)
# +         near = f(x + nudge) - f(x - nudge)
# +         far = f(x + 2 * nudge) - f(x - 2 * nudge)
# +         gradient[place] = (8 * near - far) / (12 * step)
# %% wrong: rows and columns only
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
    flat = x.ravel()
    steps = step * np.eye(flat.size)
    slopes = [(f(flat + e) - f(flat - e)) / (2 * step) for e in steps]
    return np.array(slopes).reshape(x.shape)
# %% wrong: f gets one number only
    gradient = np.zeros(x.shape)
    for i in np.ndindex(*x.shape):
        rise = f(x[i] + step) - f(x[i] - step)
        gradient[i] = rise / (2 * step)
    return gradient
# %% wrong: all other numbers set to 0
    gradient = np.zeros(x.shape)
    for i in np.ndindex(*x.shape):
        up, down = np.zeros(x.shape), np.zeros(x.shape)
        up[i] = x[i] + step
        down[i] = x[i] - step
        gradient[i] = (f(up) - f(down)) / (2 * step)
    return gradient
# %% wrong: equal numbers nudged together
    gradient = np.zeros(x.shape)
    for i, number in np.ndenumerate(x):
        nudge = np.where(x == number, step, 0)
        gradient[i] = (f(x + nudge) - f(x - nudge)) / (2 * step)
    return gradient
# %% wrong: ravel copies if x is transposed
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
# like: all other numbers set to 0
#   def numeric_gradient(f, x, step=1e-5):
# +     x = x.astype(np.float32)
# np.zeros(x.shape), np.zeros(x.shape) → x.copy(), x.copy()
# [i] = x[i] + step → [i] += step
# [i] = x[i] - step → [i] -= step
# %% wrong: x back only up to rounding
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
    nudges = step * np.eye(x.size).reshape(x.size, *x.shape)
    slopes = [f(x + n) - f(x - n) for n in nudges]
    return np.reshape(slopes, x.shape) / step / 2
# %% right: a flat copy
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
    number = np.arange(x.size).reshape(x.shape)
    gradient = np.empty(x.size)
    for n in range(x.size):
        up = f(np.where(number == n, x + step, x))
        down = f(np.where(number == n, x - step, x))
        gradient[n] = 0.5 * (up - down) / step
    return gradient.reshape(x.shape)
# %% right: .flat on copies
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
    from scipy.optimize import approx_fprime

    flat = approx_fprime(x.ravel(), lambda z: f(z.reshape(x.shape)), step)
    return flat.reshape(x.shape)
