/// The kind of mistake that a diagnostic reports. Codes are stable and never reused for a different kind.
///
/// The first two digits are the family: 01 text, 02 keys, 03 values, 04 names and references, 05 cycles, 06
/// sharing, 07 warnings, 08 conflicts with the files, 09 features that are not implemented yet. `ferry
/// explain` describes each code.
package enum DiagnosticCode: String, CaseIterable, Codable, Sendable {
  // Text that is not valid YAML.
  case manifestTooLarge = "F0101"
  case invalidUTF8 = "F0102"
  case forbiddenCharacter = "F0103"
  case emptyManifest = "F0104"
  case secondDocument = "F0105"
  case syntax = "F0106"
  case tab = "F0107"
  case unquotedReference = "F0108"
  case nestedTooDeep = "F0109"
  case tooManyValues = "F0110"
  case unknownAlias = "F0111"
  case duplicateKey = "F0112"
  case keyNotString = "F0113"
  case unknownTag = "F0114"
  case tagMismatch = "F0115"
  case mergeOfNoMapping = "F0116"

  // Keys.
  case unknownKey = "F0201"
  case missingKey = "F0202"
  case excludingKeys = "F0203"
  case missingAlternative = "F0204"
  case keyWithoutOther = "F0205"
  case transferBody = "F0206"
  case unknownVersion = "F0207"

  // Values.
  case wrongType = "F0301"
  case unknownWord = "F0302"
  case missingUnit = "F0303"
  case unknownUnit = "F0304"
  case fraction = "F0305"
  case malformedQuantity = "F0306"
  case outOfRange = "F0307"
  case contradictoryBounds = "F0308"
  case emptyText = "F0309"
  case controlCharacter = "F0310"
  case emptyList = "F0311"
  case invalidName = "F0312"
  case invalidURL = "F0313"
  case invalidPath = "F0314"
  case invalidGlob = "F0315"
  case invalidPointer = "F0316"
  case invalidPattern = "F0317"
  case invalidHeaderName = "F0318"
  case ownHeader = "F0319"
  case duplicateHeader = "F0320"
  case invalidHeaderValue = "F0321"
  case invalidMethod = "F0322"
  case numberNotInJSON = "F0323"
  case onlyTrue = "F0324"
  case stepToken = "F0325"
  case invalidMediaType = "F0326"
  case invalidElementPath = "F0327"
  case signedRequest = "F0328"

  // Names and references.
  case unknownSession = "F0401"
  case unknownToken = "F0402"
  case unknownNode = "F0403"
  case unknownSecret = "F0404"
  case unknownRequest = "F0405"
  case unknownCapture = "F0406"
  case unknownVariable = "F0407"
  case unknownReference = "F0408"
  case referenceOutOfPlace = "F0409"
  case incompleteReference = "F0410"
  case unclosedReference = "F0411"
  case nodeWithoutToken = "F0412"
  case missingStep = "F0413"
  case environmentNotSet = "F0414"
  case invalidEnvironmentName = "F0415"
  case referenceInDefault = "F0416"
  case duplicateNode = "F0417"
  case duplicateIdentifier = "F0418"
  case undeclaredVariable = "F0419"
  case missingVariable = "F0420"
  case invalidVariable = "F0421"
  case invalidFilter = "F0422"

  // Cycles and unbounded growth.
  case cycle = "F0501"
  case variableCircle = "F0502"
  case variablesTooDeep = "F0503"
  case variablesTooLarge = "F0504"

  // Sharing: include, for_each.
  case unreadableInclude = "F0601"
  case includeCycle = "F0602"
  case includeClash = "F0603"
  case includesTooDeep = "F0604"
  case eachOutOfPlace = "F0605"
  case duplicateEach = "F0606"

  // Valid content that is probably unintended.
  case unusedSession = "F0701"
  case uploadIDWithoutLife = "F0702"
  case fileOutlivesUploadID = "F0703"
  case globMatchesNothing = "F0704"
  case plainSecret = "F0705"
  case tokenWithoutTLS = "F0706"
  case sharedSaveTo = "F0707"
  case idlePriority = "F0708"
  case idleComparison = "F0709"
  case takenFiles = "F0710"
  case idlePolicy = "F0711"
  case idleRepeatable = "F0712"
  case partSettings = "F0713"
  case idleSignature = "F0714"

  // Valid content that is impossible with the existing files; reported by a plan.
  case fileOverBudget = "F0801"
  case unknownTimeZone = "F0802"

  // Part of the language, but not implemented yet.
  case notBuilt = "F0901"
}
