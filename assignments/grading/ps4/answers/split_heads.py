# %% wrong: reshaped at once
def split_heads(x, heads):
    B, T, d = x.shape
    return x.view(B, heads, T, d // heads)


# %% wrong: not moved in front
def split_heads(x, heads):
    B, T, d = x.shape
    return x.view(B, T, heads, d // heads)


# %% wrong: columns dealt out like cards
def split_heads(x, heads):
    B, T, d = x.shape
    return x.view(B, T, d // heads, heads).permute(0, 3, 1, 2)


# %% wrong: moved too far, positions last
def split_heads(x, heads):
    B, T, d = x.shape
    return x.view(B, T, heads, d // heads).permute(0, 2, 3, 1)


# %% wrong: heads in front of the batch
def split_heads(x, heads):
    return torch.stack(x.chunk(heads, dim=-1))


# %% wrong: heads taken for their width
def split_heads(x, heads):
    return torch.stack(x.split(heads, dim=-1), dim=1)


# %% wrong: positions cut instead of columns
def split_heads(x, heads):
    B, T, d = x.shape
    return x.transpose(1, 2).reshape(B, heads, T, d // heads)


# %% wrong: a list of heads
def split_heads(x, heads):
    return list(x.chunk(heads, dim=-1))


# %% wrong: every head gets all columns
def split_heads(x, heads):
    return x.unsqueeze(1).expand(-1, heads, -1, -1)


# %% wrong: view after the transpose
def split_heads(x, heads):
    B, T, d = x.shape
    return x.transpose(1, 2).view(B, heads, d // heads, T).transpose(2, 3)[0]


# %% right: view and permute
def split_heads(x, heads):
    B, T, d = x.shape
    return x.view(B, T, heads, d // heads).permute(0, 2, 1, 3)


# %% right: chunks on top of one another
def split_heads(x, heads):
    return torch.stack(x.chunk(heads, dim=-1), dim=1)


# %% right: a loop over slices
def split_heads(x, heads):
    B, T, d = x.shape
    width = d // heads
    out = x.new_zeros(B, heads, T, width)
    for h in range(heads):
        out[:, h] = x[:, :, h * width : (h + 1) * width]
    return out


# %% right: positions last, then cut, then back
def split_heads(x, heads):
    B, T, d = x.shape
    columns = x.mT.contiguous().view(B, heads, d // heads, T)
    return columns.mT
