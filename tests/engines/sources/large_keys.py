"""An RSA key whose validation takes long."""

from cryptography.hazmat.primitives.asymmetric import rsa


def build_large_key() -> rsa.RSAPrivateKey:
    """Return a valid key of 8,676 bits, made from two Mersenne primes."""
    p, q, exponent = 2**4253 - 1, 2**4423 - 1, 65537
    d = pow(exponent, -1, (p - 1) * (q - 1))
    numbers = rsa.RSAPrivateNumbers(
        p, q, d, d % (p - 1), d % (q - 1), pow(q, -1, p), rsa.RSAPublicNumbers(exponent, p * q)
    )
    return numbers.private_key(unsafe_skip_rsa_key_validation=True)
