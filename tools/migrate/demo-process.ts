/** Of the demo's process: small refunds are promised at once, larger ones when a human has said so. */
export const REFUND_DEFINITION = {
  schema_version: 1,
  input_schema: { type: 'object', properties: { text: { type: 'string', maxLength: 20_000 } }, required: ['text'] },
  output: '${steps.decide.output.decision}',
  steps: [
    {
      ...{
        id: 'read',
        kind: 'llm',
        system: 'You read what customers write.',
        prompt: 'Which order is it, and what did it cost?\n\n${input.text}',
      },
      output_schema: {
        type: 'object',
        properties: { order: { type: 'string' }, amount: { type: 'number', minimum: 0 } },
        required: ['order', 'amount'],
        additionalProperties: false,
      },
    },
    {
      ...{ id: 'decide', kind: 'branch' },
      branches: [
        {
          when: 'steps.read.output.amount > 100',
          steps: [
            {
              ...{ id: 'ask', kind: 'human', timeout_s: 7 * 24 * 3_600, on_timeout: 'flag' },
              prompt: 'Refund ${steps.read.output.amount} USD for order ${steps.read.output.order}?',
            },
          ],
        },
      ],
      else: [{ id: 'small', kind: 'transform', set: { decision: 'approve' } }],
    },
    {
      ...{ id: 'tell', kind: 'branch' },
      // Whoever runs it by the API has nobody to be answered.
      branches: [
        {
          when: 'envelope.message != null',
          steps: [
            {
              ...{ id: 'reply', kind: 'tool', tool: 'reply_to_sender' },
              arguments: {
                text: 'Order ${steps.read.output.order}: ${steps.decide.output.decision == "approve" ? "your money is on its way." : "we are sorry, but we cannot refund it."}',
              },
            },
          ],
        },
      ],
      else: [],
    },
  ],
};
