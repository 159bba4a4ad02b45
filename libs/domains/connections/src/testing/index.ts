export * from './connections';
export { startToolServer, type TestToolServer, type ToolServerOptions } from '../mcp/testing/tool-server';
