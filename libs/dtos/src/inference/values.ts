export const MODEL_KIND_VALUES = ['chat', 'embedding', 'rerank', 'image'] as const;
export const COST_TIER_VALUES = ['free', 'low', 'medium', 'high', 'premium'] as const;
export const DIALECT_VALUES = ['dialect_1', 'dialect_2', 'dialect_3'] as const;
