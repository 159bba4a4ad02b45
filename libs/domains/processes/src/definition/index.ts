export { MAX_BYTES, readDefinition, type DefinitionReading, type ReadingOptions } from './definition.reader';
export * from './definition.types';
export { compileExpression, evaluate, ExpressionError, referencesOf, type Compiled, type Scope } from './expression';
export type { Path } from './paths';
export { checkSchema, validate, type Misfit } from './schema';
export { stubOf } from './schema.stub';
export { evaluatedOf, innerOf, referencesIn, seenAfter, stepsOf, type Inner, type PlacedStep, type References } from './steps';
export { expressionsOf, isExpressionAlone, render, templateProblems } from './template';
export { warningsOf, type WarningOptions } from './warnings';
