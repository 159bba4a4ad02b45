export { MAX_BYTES, readDefinition, type DefinitionReading, type ReadingOptions } from './definition.reader';
export * from './definition.types';
export { dateTimeOf } from './date-time';
export { compileExpression, evaluate, ExpressionError, type Compiled, type Scope } from './expression';
export type { Path } from './paths';
export { stubOf } from './schema.stub';
export { evaluatedOf, innerOf, referencesIn, seenAfter, stepsOf, type Inner, type PlacedStep, type References } from './steps';
export { expressionsOf, isExpressionAlone, render, templateProblems } from './template';
export { warningsOf, type WarningOptions } from './warnings';
