import path from 'node:path';
import ts from 'typescript';

/** All of the sources, as `npm run typecheck` reads them. */
export function sourceProgram(root: string): ts.Program {
  const config = ts.getParsedCommandLineOfConfigFile(
    path.join(root, 'tsconfig.json'),
    { noEmit: true },
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (problem) => expect(problem.messageText).toBeUndefined() },
  )!;
  return ts.createProgram(config.fileNames, config.options);
}
