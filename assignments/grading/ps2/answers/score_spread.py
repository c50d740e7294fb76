# %% wrong: the variance
    return d_k * var_q * var_k
# %% wrong: only the width
    return np.sqrt(d_k)
# %% wrong: variances taken for standard deviations
    return np.sqrt(d_k) * var_q * var_k
# %% wrong: variances of a product added
    return np.sqrt(d_k * (var_q + var_k))
# %% wrong: spreads of the terms added, so no root of d_k
    return d_k * np.sqrt(var_q * var_k)
# %% wrong: only the query's variance
    return np.sqrt(d_k * var_q)
# %% wrong: a factor, not a divisor
    return 1 / np.sqrt(d_k * var_q * var_k)
# %% wrong: measured with too few random numbers
    rng = np.random.default_rng(0)
    q, k = rng.normal(size=(2, 2000, d_k))
    return (q * k).sum(-1).std() * np.sqrt(var_q * var_k)
# %% wrong: the width of the example
    return 8.0 if d_k == 64 else 3 * np.sqrt(var_q * var_k)
# %% wrong: var_k used as standard deviation
    return np.sqrt(d_k * var_q) * var_k
# %% wrong: divides by var_k
    return np.sqrt(d_k * var_q / var_k)
# %% wrong: only the larger variance counts
    return np.sqrt(d_k * max(var_q, var_k))
# %% wrong: integer root
import math


def score_spread(d_k, var_q, var_k):
    return math.isqrt(int(d_k * var_q * var_k))
# %% wrong: var_k added, with a 1 too many taken
    # E[(q k)^2] = var_q + var_k - 1 ?
    return np.sqrt(d_k * (var_q + var_k - 1))
# %% wrong: var_k under a fourth root
    std_q, std_k = np.sqrt(var_q), np.sqrt(var_k)
    return np.sqrt(d_k) * std_q * np.sqrt(std_k)
# %% wrong: variances averaged
    return np.sqrt(d_k * (var_q + var_k) / 2)
# %% right: the standard deviations multiplied
    return d_k**0.5 * var_q**0.5 * var_k**0.5
# %% right: term by term
    variance = 0
    for _ in range(d_k):
        variance += var_q * var_k
    return float(np.sqrt(variance))
# %% right: by logarithms, as an array
    logs = np.log(np.array([d_k, var_q, var_k], dtype=float))
    return np.exp(logs.sum() / 2)
# %% right: math, the variance as a step of its own
# like: integer root
# -     return math.isqrt(int(d_k * var_q * var_k))
# +     variance_of_one_product = var_q * var_k
# +     return math.sqrt(d_k * variance_of_one_product)
# %% right: norm of d_k equal standard deviations
    one = (var_q ** 0.5) * (var_k ** 0.5)
    return float(np.linalg.norm(np.full(d_k, one)))
