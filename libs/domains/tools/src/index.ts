export { TookTooLong, Deadline } from './deadline';
export { isCovered, DECISION_MODES, type DecisionMode, type ToolHints } from './decision-mode';
export { fitting, MAX_READ, partToRead } from './fitting';
export {
  effectOf,
  defineTool,
  type AccessLevel,
  type ChatOrigin,
  type ToolContext,
  type ToolResult,
  type ToolOutcome,
  type ToolEvent,
  type WaitKind,
  type Tool,
  type CallLimits,
  CALL_LIMITS,
  NotSent,
  type ParsedArguments,
  labelOf,
  toolError,
  toolResult,
} from './tool';
export {
  capResult,
  parseArguments,
  type ToolGrants,
  MAX_RESULT_CHARS,
  type ToolCaller,
  type ToolSource,
  type ToolSpec,
  ToolSet,
  ToolCatalog,
  TOOL_NAME,
  WEB_SCOPE,
  EXEC_SCOPE,
  covers,
} from './tool-catalog';
export { ToolsModule } from './tools.module';
