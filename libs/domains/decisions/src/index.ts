export { DecisionGate } from './decision-gate';
export { DecisionLog } from './decision-log';
export { DecisionRetention } from './decisions.maintenance';
export { DecisionMakingModule, DecisionsMaintenanceModule } from './decisions.module';
export { Escalations, type Escalated, type Escalation } from './escalations';
export { handedUpBy } from './record-decision.tool';
