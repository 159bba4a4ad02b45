import { ScheduleLastRun, ScheduleResponse } from '@aps/dtos';
import { answer } from '@aps/platform/http';
import type { ScheduleView } from '../schedules/schedules.queries';

export const toSchedule = (schedule: ScheduleView): ScheduleResponse => {
  const { last_run, last_status } = schedule;
  return answer(ScheduleResponse, schedule, {
    last_run: last_run && answer(ScheduleLastRun, { ...last_run, status: last_status ?? last_run.status }),
  });
};
