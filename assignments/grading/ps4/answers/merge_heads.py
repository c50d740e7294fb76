# %% wrong: joined without moving back
def merge_heads(x):
    B, H, T, d = x.shape
    return x.reshape(B, T, H * d)


# %% wrong: columns of the heads alternate
def merge_heads(x):
    return x.permute(0, 2, 3, 1).flatten(2)


# %% wrong: view of numbers that lie otherwise
def merge_heads(x):
    B, H, T, d = x.shape
    return x.transpose(1, 2).view(B, T, H * d)


# %% wrong: the wrong pair is joined
def merge_heads(x):
    return x.flatten(1, 2)


# %% wrong: heads averaged
def merge_heads(x):
    return x.mean(dim=1)


# %% wrong: the last head first
def merge_heads(x):
    return torch.cat(x.flip(1).unbind(1), dim=-1)


# %% wrong: transposed twice
def merge_heads(x):
    B, H, T, d = x.shape
    return x.transpose(2, 3).transpose(1, 2).reshape(B, T, H * d)


# %% wrong: not joined
def merge_heads(x):
    return x.transpose(1, 2)


# %% right: permute and reshape
def merge_heads(x):
    B, H, T, d = x.shape
    return x.permute(0, 2, 1, 3).reshape(B, T, H * d)


# %% right: contiguous, then view
def merge_heads(x):
    B, H, T, d = x.shape
    return x.transpose(1, 2).contiguous().view(B, T, -1)


# %% right: heads side by side
def merge_heads(x):
    return torch.cat([x[:, h] for h in range(x.size(1))], dim=2)


# %% right: writes into slices
def merge_heads(x):
    B, H, T, d = x.shape
    out = torch.empty(B, T, H * d, dtype=x.dtype)
    for h in range(H):
        out[..., h * d : h * d + d] = x[:, h]
    return out
