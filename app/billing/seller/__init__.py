"""The operator as the seller: address, series of numbers, payment terms and tax rates."""
