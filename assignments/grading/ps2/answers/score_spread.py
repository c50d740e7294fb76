# %% wrong: the variance
def score_spread(d_k, var_q, var_k):
    return d_k * var_q * var_k


# %% wrong: only the width
def score_spread(d_k, var_q, var_k):
    return np.sqrt(d_k)


# %% wrong: variances taken for standard deviations
def score_spread(d_k, var_q, var_k):
    return np.sqrt(d_k) * var_q * var_k


# %% wrong: variances of a product added
def score_spread(d_k, var_q, var_k):
    return np.sqrt(d_k * (var_q + var_k))


# %% wrong: spreads of the terms added, so no root of d_k
def score_spread(d_k, var_q, var_k):
    return d_k * np.sqrt(var_q * var_k)


# %% wrong: only the query's variance
def score_spread(d_k, var_q, var_k):
    return np.sqrt(d_k * var_q)


# %% wrong: a factor, not a divisor
def score_spread(d_k, var_q, var_k):
    return 1 / np.sqrt(d_k * var_q * var_k)


# %% wrong: measured with too few random numbers
def score_spread(d_k, var_q, var_k):
    rng = np.random.default_rng(0)
    q, k = rng.normal(size=(2, 2000, d_k))
    return (q * k).sum(-1).std() * np.sqrt(var_q * var_k)


# %% wrong: the width of the example
def score_spread(d_k, var_q, var_k):
    return 8.0 if d_k == 64 else 3 * np.sqrt(var_q * var_k)


# %% wrong: var_k used as standard deviation
def score_spread(d_k, var_q, var_k):
    return np.sqrt(d_k * var_q) * var_k


# %% wrong: divides by var_k
def score_spread(d_k, var_q, var_k):
    return np.sqrt(d_k * var_q / var_k)


# %% wrong: only the larger variance counts
def score_spread(d_k, var_q, var_k):
    return np.sqrt(d_k * max(var_q, var_k))


# %% wrong: integer root
import math


def score_spread(d_k, var_q, var_k):
    return math.isqrt(int(d_k * var_q * var_k))


# %% wrong: var_k added, with a 1 too many taken
def score_spread(d_k, var_q, var_k):
    # E[(q k)^2] = var_q + var_k - 1 ?
    return np.sqrt(d_k * (var_q + var_k - 1))


# %% wrong: var_k under a fourth root
def score_spread(d_k, var_q, var_k):
    std_q, std_k = np.sqrt(var_q), np.sqrt(var_k)
    return np.sqrt(d_k) * std_q * np.sqrt(std_k)


# %% wrong: variances averaged
def score_spread(d_k, var_q, var_k):
    return np.sqrt(d_k * (var_q + var_k) / 2)


# %% right: the standard deviations multiplied
def score_spread(d_k, var_q, var_k):
    return d_k**0.5 * var_q**0.5 * var_k**0.5


# %% right: term by term
def score_spread(d_k, var_q, var_k):
    variance = 0
    for _ in range(d_k):
        variance += var_q * var_k
    return float(np.sqrt(variance))


# %% right: by logarithms, as an array
def score_spread(d_k, var_q, var_k):
    logs = np.log(np.array([d_k, var_q, var_k], dtype=float))
    return np.exp(logs.sum() / 2)


# %% right: math, the variance as a step of its own
import math


def score_spread(d_k, var_q, var_k):
    variance_of_one_product = var_q * var_k
    return math.sqrt(d_k * variance_of_one_product)


# %% right: norm of d_k equal standard deviations
def score_spread(d_k, var_q, var_k):
    one = (var_q ** 0.5) * (var_k ** 0.5)
    return float(np.linalg.norm(np.full(d_k, one)))
