// Arithmetic that saturates at the ends of the type's range, with the operators of Zig. Swift's own `+`
// traps if a result does not fit in the type. Sums of numbers from outside (file sizes, byte counts, clocks, journal
// rows) use these operators instead: a total that is too large is reported as the largest number, and no
// input crashes ferry.
//
// `Duration` does not need them: it counts attoseconds in 128 bits, and all durations that ferry reads or
// computes are at most `Int64.max` seconds.
infix operator +| : AdditionPrecedence
infix operator -| : AdditionPrecedence
infix operator *| : MultiplicationPrecedence
infix operator +|= : AssignmentPrecedence
infix operator -|= : AssignmentPrecedence

extension FixedWidthInteger {
  package static func +| (a: Self, b: Self) -> Self {
    let (sum, overflow) = a.addingReportingOverflow(b)
    // A sum overflows only if both operands have the same sign.
    return overflow ? (b < 0 ? .min : .max) : sum
  }

  package static func -| (a: Self, b: Self) -> Self {
    let (difference, overflow) = a.subtractingReportingOverflow(b)
    return overflow ? (b < 0 ? .max : .min) : difference
  }

  package static func *| (a: Self, b: Self) -> Self {
    let (product, overflow) = a.multipliedReportingOverflow(by: b)
    return overflow ? ((a < 0) == (b < 0) ? .max : .min) : product
  }

  package static func +|= (a: inout Self, b: Self) { a = a +| b }

  package static func -|= (a: inout Self, b: Self) { a = a -| b }
}
