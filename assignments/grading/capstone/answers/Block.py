# %% wrong: no residual around attention
class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.attention = Attention(d_model, heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, 4 * d_model), nn.GELU(),
            nn.Linear(4 * d_model, d_model))
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, cache=None):
        x = self.attention(self.norm_1(x), cache)
        return x + self.feed_forward(self.norm_2(x))


# %% wrong: no residual around the feed-forward network
class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.attention = Attention(d_model, heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, 4 * d_model), nn.GELU(),
            nn.Linear(4 * d_model, d_model))
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm_1(x), cache)
        return self.feed_forward(self.norm_2(x))


# %% wrong: no norm
class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.attention = Attention(d_model, heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, 4 * d_model), nn.GELU(),
            nn.Linear(4 * d_model, d_model))

    def forward(self, x, cache=None):
        x = x + self.attention(x, cache)
        return x + self.feed_forward(x)


# %% wrong: no norm before the feed-forward network
class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.attention = Attention(d_model, heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, 4 * d_model), nn.GELU(),
            nn.Linear(4 * d_model, d_model))
        self.norm_1 = nn.LayerNorm(d_model)

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm_1(x), cache)
        return x + self.feed_forward(x)


# %% wrong: no norm before attention
class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.attention = Attention(d_model, heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, 4 * d_model), nn.GELU(),
            nn.Linear(4 * d_model, d_model))
        self.norm_2 = nn.LayerNorm(d_model)

    def forward(self, x, cache=None):
        x = x + self.attention(x, cache)
        return x + self.feed_forward(self.norm_2(x))


# %% wrong: the cache is not passed on
class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.attention = Attention(d_model, heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, 4 * d_model), nn.GELU(),
            nn.Linear(4 * d_model, d_model))
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm_1(x))
        return x + self.feed_forward(self.norm_2(x))


# %% wrong: a fresh cache each time
class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.attention = Attention(d_model, heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, 4 * d_model), nn.GELU(),
            nn.Linear(4 * d_model, d_model))
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm_1(x), {})
        return x + self.feed_forward(self.norm_2(x))


# %% wrong: no activation
class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.attention = Attention(d_model, heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, 4 * d_model),
            nn.Linear(4 * d_model, d_model))
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm_1(x), cache)
        return x + self.feed_forward(self.norm_2(x))


# %% wrong: no feed-forward network
class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.attention = Attention(d_model, heads)
        self.norm_1 = nn.LayerNorm(d_model)

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm_1(x), cache)
        return x


# %% wrong: feed-forward made and not used
class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.attention = Attention(d_model, heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, 4 * d_model), nn.GELU(),
            nn.Linear(4 * d_model, d_model))
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm_1(x), cache)
        return self.norm_2(x)


# %% wrong: norm over the positions
class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.attention = Attention(d_model, heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, 4 * d_model), nn.GELU(),
            nn.Linear(4 * d_model, d_model))
        self.norm_2 = nn.LayerNorm(d_model)

    def forward(self, x, cache=None):
        mean, std = x.mean(1, keepdim=True), x.std(1, keepdim=True)
        x = x + self.attention((x - mean) / (std + 1e-5), cache)
        return x + self.feed_forward(self.norm_2(x))


# %% wrong: norm over positions and features
class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.attention = Attention(d_model, heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, 4 * d_model), nn.GELU(),
            nn.Linear(4 * d_model, d_model))
        self.norm_2 = nn.LayerNorm(d_model)

    def forward(self, x, cache=None):
        x = x + self.attention(F.layer_norm(x, x.shape[1:]), cache)
        return x + self.feed_forward(self.norm_2(x))


# %% wrong: norm over the batch
class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.attention = Attention(d_model, heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, 4 * d_model), nn.GELU(),
            nn.Linear(4 * d_model, d_model))
        self.norm_2 = nn.LayerNorm(d_model)

    def forward(self, x, cache=None):
        x = x + self.attention((x - x.mean(0)) / (x.std(0) + 1), cache)
        return x + self.feed_forward(self.norm_2(x))


# %% wrong: dropout is on in evaluation
class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.attention = Attention(d_model, heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, 4 * d_model), nn.GELU(),
            nn.Linear(4 * d_model, d_model))
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm_1(x), cache)
        return x + F.dropout(self.feed_forward(self.norm_2(x)), 0.1)


# %% wrong: attention is run twice with one cache
class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.attention = Attention(d_model, heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, 4 * d_model), nn.GELU(),
            nn.Linear(4 * d_model, d_model))
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, cache=None):
        x = self.norm_1(x) + 0 * self.attention(x, cache) + self.attention(
            x, cache)
        return x + self.feed_forward(self.norm_2(x))


# %% wrong: batch norm over the features
class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.attention = Attention(d_model, heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, 4 * d_model), nn.GELU(),
            nn.Linear(4 * d_model, d_model))
        self.norm_1, self.norm_2 = nn.BatchNorm1d(d_model), nn.LayerNorm(d_model)

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm_1(x.transpose(1, 2)).transpose(1, 2), cache)
        return x + self.feed_forward(self.norm_2(x))


# %% wrong: post-norm without a feed-forward network
class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.attention = Attention(d_model, heads)
        self.norm_1 = nn.LayerNorm(d_model)

    def forward(self, x, cache=None):
        x = x + self.attention(x, cache)
        return self.norm_1(x)


# %% wrong: the norm's result is thrown away
class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.attention = Attention(d_model, heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, 4 * d_model), nn.GELU(),
            nn.Linear(4 * d_model, d_model))
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, cache=None):
        self.norm_1(x)
        x = x + self.attention(x, cache)
        return x + self.feed_forward(self.norm_2(x))


# %% wrong: the feed-forward network reads the mean of all positions
class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.attention = Attention(d_model, heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, 4 * d_model), nn.GELU(),
            nn.Linear(4 * d_model, d_model))
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm_1(x), cache)
        return x + self.feed_forward(self.norm_2(x.mean(1, keepdim=True)))


# %% wrong: post-norm without residuals
class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.attention = Attention(d_model, heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, 4 * d_model), nn.GELU(),
            nn.Linear(4 * d_model, d_model))
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, cache=None):
        x = self.norm_1(self.attention(x, cache))
        return self.norm_2(self.feed_forward(x))


# %% wrong: post-norm, residual around attention forgotten
class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.attention = Attention(d_model, heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, 4 * d_model), nn.GELU(),
            nn.Linear(4 * d_model, d_model))
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, cache=None):
        x = self.norm_1(self.attention(x, cache))
        return self.norm_2(x + self.feed_forward(x))


# %% right: post-norm with ReLU
class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.attention = Attention(d_model, heads)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, 4 * d_model), nn.ReLU(),
            nn.Linear(4 * d_model, d_model))
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, cache=None):
        x = self.norm_1(x + self.attention(x, cache))
        return self.norm_2(x + self.feed_forward(x))


# %% right: RMSNorm and SwiGLU
class RMSNorm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d))

    def forward(self, x):
        return self.gain * x * (x.square().mean(-1, True) + 1e-6).rsqrt()


class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.attend = Attention(d_model, heads)
        self.norms = nn.ModuleList([RMSNorm(d_model), RMSNorm(d_model)])
        self.gate = nn.Linear(d_model, 4 * d_model, bias=False)
        self.up = nn.Linear(d_model, 4 * d_model, bias=False)
        self.down = nn.Linear(4 * d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        x = x + self.attend(self.norms[0](x), cache=cache)
        y = self.norms[1](x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


# %% right: both in parallel, one norm for the two, dropout in training
class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.attention = Attention(d_model, heads)
        self.w_1 = nn.Linear(d_model, 4 * d_model)
        self.w_2 = nn.Linear(4 * d_model, d_model)
        self.drop = nn.Dropout(0.2)

    def forward(self, x, cache=None):
        y = self.norm(x)
        found = self.attention(y, cache) + self.w_2(torch.relu(self.w_1(y)))
        return x + self.drop(found)


# %% right: norms behind the sublayers, inside the residual; ReZero gains
class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.a = Attention(d_model, heads)
        self.f = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.SiLU(),
                               nn.Dropout(0.1),
                               nn.Linear(4 * d_model, d_model))
        self.n_a, self.n_f = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.gain = nn.Parameter(torch.tensor([0.5, 0.5]))

    def forward(self, x, cache=None):
        x = x + self.gain[0] * self.n_a(self.a(x, cache))
        return x + self.gain[1] * self.n_f(self.f(x))
