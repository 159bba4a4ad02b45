/** Lints texts in the place of existing files: JSON `[{file, code}]` on stdin, the rules that each breaks on stdout. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import devkit from '@nx/devkit';
import { ESLint } from 'eslint';

const { createProjectGraphAsync } = devkit;

/** The rules that hold walls; the others are about code that the fixtures are not. */
const WALLS = ['@nx/enforce-module-boundaries', 'no-restricted-imports', 'no-restricted-properties', 'no-console', 'no-restricted-syntax'];

// A fresh checkout has no project graph yet, and without one the rule about projects skips.
process.env.NX_DAEMON = 'false';
await createProjectGraphAsync({ exitOnError: true });

const cases = JSON.parse(readFileSync(0, 'utf8'));
const eslint = new ESLint({
  ruleFilter: ({ ruleId }) => WALLS.includes(ruleId),
  // None of them asks for types, and a program anew for each text is nearly all that the probe would cost.
  overrideConfig: { languageOptions: { parserOptions: { projectService: false } } },
});
const answers = [];
for (const { file, code } of cases) {
  const [result] = await eslint.lintText(code, { filePath: path.resolve(file) });
  const fatal = result.messages.find((m) => m.fatal);
  if (fatal) throw new Error(`${file}: ${fatal.message}`);
  answers.push(result.messages.filter((m) => m.severity === 2 && m.ruleId).map((m) => m.ruleId));
}
process.stdout.write(JSON.stringify(answers));
