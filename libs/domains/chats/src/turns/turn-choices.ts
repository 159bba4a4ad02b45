import type { ModelMode } from '@aps/contracts';

/** How a turn asks for its model. */
export interface TurnChoices {
  model: string | null;
  model_mode_override: ModelMode | null;
  reasoning_effort: string | null;
}

/** What a turn that comes of another carries over of how that chose its model: what the plan still lets a message choose. */
export function carriedChoices(of: TurnChoices, directModelChoice: boolean): TurnChoices {
  return directModelChoice
    ? { ...of, model_mode_override: null }
    : { model: null, model_mode_override: of.model_mode_override, reasoning_effort: null };
}
