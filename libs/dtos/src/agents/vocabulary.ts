/** How hard an agent thinks where the organization does not choose models directly. */
export const AGENT_MODEL_MODES = ['trivial', 'normal', 'high_effort', 'x_high'] as const;
export type AgentModelMode = (typeof AGENT_MODEL_MODES)[number];

export const AGENT_REASONING_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;
export type AgentReasoningEffort = (typeof AGENT_REASONING_EFFORTS)[number];

/** Characters of an instruction, and of a skill's text. */
export const MAX_TEXT = 100_000;

/** A UUID, or the word that means "without one". */
export const ID_OR_NONE = /^(?:none|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})$/;
