"""The operator as the seller: address, number series, payment terms and tax rates."""
