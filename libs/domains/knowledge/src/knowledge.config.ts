import { configSection, integer, setting } from '@aps/platform/config';

export const knowledgeConfig = configSection('knowledge', {
  erasureDays: setting(
    'KNOWLEDGE_BASE_ERASURE_DAYS',
    integer(30, 1, 36_500),
    'Days after which a deleted knowledge base is erased for good, with its texts, pieces and files',
  ),
});
