/** Where the page of queues is. */
export const QUEUE_PAGE = '/api/admin/queues';
