import type { Db } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';
import { SEED_SKILL } from './skills.repository';

/** Skills that every organization can mount. Nobody can edit them, so the texts here are the truth and replace what an older release wrote. */
const SYSTEM_SKILLS = [
  {
    slug: 'clear-writing',
    name: 'Clear writing',
    description: 'Use when the answer is read by someone else: mails, reports, summaries, documentation.',
    content: `# Clear writing

1. Say the most important thing first. Reasons and details follow in the order in which the reader will ask for them.
2. One thought to a sentence, one subject to a paragraph. Cut what can be left out without loss.
3. Write verbs, not nouns made of verbs: "we decided", not "a decision was made".
4. Use the reader's words. Explain a term of the trade once, or do not use it.
5. Give numbers with their unit and date, and names in full at their first use.
6. End with what happens next: who does what by when. If nothing does, say so.

Before sending, read it as the recipient: what would they have to ask back? Answer that in the text.
`,
  },
  {
    slug: 'careful-research',
    name: 'Careful research',
    description: 'Use for questions whose answer must be found and checked before it is given.',
    content: `# Careful research

1. Write down the question and what an answer would have to contain. Ask back when the question can be read in two ways.
2. Look in the organization's own knowledge first, then elsewhere. Note for each finding where it comes from and how old it is.
3. Look for what speaks against the first answer that you find. Two sources that copy each other are one source.
4. Keep apart what a source says, what you conclude from it, and what you assume.
5. Where sources disagree, say so, name both, and say which one you trust more and why.
6. Say plainly what you did not find. A gap that is named is worth more than a guess.

Cite every fact that the reader could doubt, next to the fact.
`,
  },
  {
    slug: 'task-planning',
    name: 'Task planning',
    description: 'Use for work of more than three steps, or work that somebody may have to take over.',
    content: `# Task planning

1. State the goal in one sentence, and how one will see that it is reached.
2. Break it into steps that can each be finished and checked on their own. Put them on the todo list before you begin.
3. Do first what could make the rest pointless: the unclear, the risky, what others must answer.
4. Before a step that cannot be undone (sending, deleting, paying), stop and check that it is wanted.
5. After each step update the list. When a step fails, write down what was tried and what happened, then choose: another way, a
   question to a human, or giving the step up. Do not try the same thing a third time.
6. At the end compare the result with the goal, and list what is left open.
`,
  },
];

/** Writes the system's skills; running it again changes nothing. */
export async function seedSystemSkills(db: Db): Promise<void> {
  for (const { slug, name, description, content } of SYSTEM_SKILLS)
    await db.execute(SEED_SKILL, [uuidv7(), slug, name, description, content]);
}
