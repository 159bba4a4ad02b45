export { InboxModelsModule, InboxesModule } from './inboxes.module';
export { InboxesService } from './inboxes.service';
export { IntakeModule } from './intake/intake.module';
export { AnsweringModule } from './replies/replies.module';
export { RevisionsService } from './rules/revisions.service';
