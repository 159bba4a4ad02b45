import path from 'node:path';
import ts from 'typescript';

/** The sources of what runs, as `npm run typecheck` reads them, without those that test it. */
export function sourceProgram(root: string): ts.Program {
  const config = ts.getParsedCommandLineOfConfigFile(
    path.join(root, 'tsconfig.json'),
    { noEmit: true },
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (problem) => expect(problem.messageText).toBeUndefined() },
  )!;
  const running = config.fileNames.filter((file) => !/\.spec\.ts$|-e2e\//.test(file));
  return ts.createProgram(running, config.options);
}
