export { DecisionGate } from './decision-gate';
export { DecisionLog } from './decision-log';
export { DecisionRetention } from './decisions.maintenance';
export { DecisionMakingModule, DecisionsMaintenanceModule } from './decisions.module';
export { Escalations, type Escalated, type Escalation } from './escalations';
export { decidedBy, handedUpBy, NOTHING_RECORDED } from './record-decision.tool';
