export { DecisionGate, type GatedTool } from './decision-gate';
export { DecisionLog } from './decision-log';
export { DecisionRetention } from './decisions.maintenance';
export * from './decisions.module';
export { DecisionsQueries, type DecisionGroup } from './decisions.queries';
export { DecisionsService } from './decisions.service';
export { Escalations, type Escalated, type Escalation } from './escalations';
