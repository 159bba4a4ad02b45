export { ArmChats, type AssignedUnits, type ChatDecisions, type CountedChat } from './arm-chats';
export { RolloutResultsService } from './results.service';
export { chosen } from './arms.policy';
