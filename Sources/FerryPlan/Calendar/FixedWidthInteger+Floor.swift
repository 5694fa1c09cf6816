extension FixedWidthInteger {
  /// Division that rounds towards negative infinity, for a positive divisor; the remainder is 0 or more.
  func dividedWithFloor(by divisor: Self) -> (quotient: Self, remainder: Self) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }

  func floorDivided(by divisor: Self) -> Self { dividedWithFloor(by: divisor).quotient }
}
