/** How hard work is where an organization does not choose models directly. */
export const MODEL_MODES = ['trivial', 'normal', 'high_effort', 'x_high'] as const;
export type ModelMode = (typeof MODEL_MODES)[number];

/** How long a model thinks, from not at all to as long as it can. */
export const REASONING_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number];

/** How a model is given files. */
export const FILE_INPUT_MODES = ['auto', 'image', 'text', 'both'] as const;
export type FileInputMode = (typeof FILE_INPUT_MODES)[number];
