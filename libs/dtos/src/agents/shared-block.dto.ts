import { ListField, StringField } from '@aps/platform/http';
import { toolScopes } from './agent.dto';
import { MAX_TEXT } from './vocabulary';

/** What can be set of teams and of projects alike. */
export class SharedBlockSettings {
  @StringField({ min: 1, max: 200, description: 'What people call it.', example: 'Customer care' }) name: string;
  @StringField({ nullable: true, max: 2_000, description: 'What it is for.', example: 'Everything that customers write to.' })
  description: string | null;

  @StringField({
    nullable: true,
    max: MAX_TEXT,
    description: 'Said to each of its agents before their own instruction. Setting it needs `shared_blocks`.',
    example: 'Our office hours are 9 to 17 in Vienna.',
  })
  shared_instruction: string | null;

  @ListField('string', toolScopes('What each of its agents may use besides what is its own.')) shared_allowed_tools: string[];

  @ListField('string', {
    max: 500,
    item: { min: 1, max: 64 },
    description: 'Slugs of skills that each of its agents mounts besides its own.',
    example: ['clear-writing'],
  })
  shared_mounted_skills: string[];
}
