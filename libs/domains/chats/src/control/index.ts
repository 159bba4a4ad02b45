import { TurnDispatch } from '../turns/turn-dispatch';
import { CloseService } from './close.service';
import { ContinueService } from './continue.service';
import { ControlRepository } from './control.repository';
import { DiagnosisQueries } from './diagnosis.queries';
import { EndService } from './end.service';
import { RetryQueries } from './retry.queries';
import { RetryService } from './retry.service';
import { StopService } from './stop.service';
import { Teardown } from './teardown';
import { UpdateService } from './update.service';

export * from './close.service';
export * from './continue.service';
export * from './diagnosis.queries';
export * from './end.service';
export * from './members-who-left';
export * from './retry.service';
export * from './stop.service';
export * from './update.service';

/** What controls chats, for the module. */
export const CONTROL = [StopService, CloseService, UpdateService, ContinueService, RetryService, DiagnosisQueries, EndService];
export const CONTROL_PARTS = [ControlRepository, RetryQueries, Teardown, TurnDispatch];
