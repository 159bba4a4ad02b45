import type { ModelMode } from '@aps/contracts';

/** How a turn asks for its model. */
export interface TurnChoices {
  model: string | null;
  model_mode_override: ModelMode | null;
  reasoning_effort: string | null;
}

/** What a retry carries over of how the first turn chose its model: what the plan still lets a message choose. */
export function carriedChoices(of: TurnChoices, directModelChoice: boolean): TurnChoices {
  return directModelChoice
    ? { ...of, model_mode_override: null }
    : { model: null, model_mode_override: of.model_mode_override, reasoning_effort: null };
}
