/** Everything about token counting. */

export {
  type EstimateTokensOptions,
  estimateTokens,
  loadTokenCounter,
  TokenCalibration,
  type TokenCounter,
  type TokenCounterPackage,
  type TokenSample,
} from './tokens'
