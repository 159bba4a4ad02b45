import { EnumField, IntField, ListField, NumberField, StringField, UuidField } from '@aps/platform/http';

const MODES = ['hybrid', 'text'] as const;

export class SearchRequest {
  @StringField({ trim: true, min: 1, max: 2_000, description: 'What is looked for, in words.', example: 'How many days off do we have?' })
  query: string;
  @IntField({ optional: true, min: 1, max: 100, default: 10, description: 'Results at most.' }) limit?: number;
}

export class SearchResult {
  @UuidField({ description: 'The piece.' }) chunk_id: string;
  @UuidField({ description: 'Its base.' }) kb_id: string;
  @UuidField({ description: 'Its source.' }) source_id: string;
  @StringField({ description: 'What people call the source.', example: 'Holidays' }) title: string;
  @ListField('string', { description: 'The headings above it, outermost first.', example: ['Holidays'] }) heading_path: string[];
  @StringField({ description: 'What it says.' }) content: string;
  @NumberField({ description: 'The higher, the better. To be compared within an answer alone.', example: 0.42 }) score: number;
  @IntField({ description: 'Its place in the source: 0, 1, 2 …', example: 3 }) position: number;
  @StringField({ nullable: true, description: 'Where the source stands.', example: 'https://example.com/handbook' }) url: string | null;
}

export class SearchResponse {
  @StringField({ description: 'What was looked for.' }) query: string;
  @EnumField(MODES, { name: 'SearchMode', description: '`hybrid`: by words and by meaning. `text`: by words.', example: 'text' })
  mode: string;
  @ListField(() => SearchResult, { description: 'The best first.' }) results: SearchResult[];
  @IntField({ description: 'Time that it took, milliseconds.', example: 12 }) took_ms: number;
}
