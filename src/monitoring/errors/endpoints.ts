import { z } from 'zod'
import { onProject } from '../../access/subjects.ts'
import { badParameters, existing } from '../../base/problem.ts'
import { Answer, endpoint } from '../../http/endpoint.ts'
import { integer, oneOf, text } from '../../http/params.ts'
import { onError } from './access.ts'
import { changeError } from './change-error.ts'
import { nextLink, readCursor, writeCursor } from './cursor.ts'
import {
  errorDetailEntity,
  errorEntity,
  eventEntity,
  presentError,
  presentErrors,
  presentEvents,
} from './entity.ts'
import { type ErrorColumn, findLatestEvent, listErrors, listEvents } from './queries.ts'
import { errorStatuses } from './words.ts'

const path = '/projects/:id/error_tracking/errors'

const orders: Readonly<Record<'last_seen' | 'first_seen' | 'frequency', ErrorColumn>> = {
  last_seen: 'last_seen',
  first_seen: 'first_seen',
  frequency: 'events',
}

const paging = {
  per_page: integer({ min: 1 })
    .default(20)
    .transform((count) => Math.min(count, 100)),
  cursor: text({ max: 4096 }).optional(),
}

export const getErrors = endpoint({
  method: 'GET',
  path,
  summary: 'List the errors of a project',
  access: onProject('read_errors'),
  query: {
    status: oneOf(errorStatuses).default('unresolved'),
    query: text({ max: 500 }).optional(),
    sort: oneOf(['last_seen', 'first_seen', 'frequency']).default('last_seen'),
    ...paging,
  },
  response: z.array(errorEntity),
  async handler({ ctx, project, query, request }) {
    const filter = { status: errorStatuses.indexOf(query.status), search: query.query }
    const range = { limit: query.per_page, after: readCursor(query.sort, query.cursor) }
    const page = await listErrors(ctx.db, project.id, filter, orders[query.sort], range)
    const next = page.next && writeCursor(query.sort, page.next)
    const headers = nextLink(request.url, query, next)
    return new Answer(await presentErrors(ctx, project, page.items), { headers })
  },
})

export const getError = endpoint({
  method: 'GET',
  path: `${path}/:error_id`,
  summary: 'Get an error with its releases, environments, issue and commit',
  access: onError(),
  response: errorDetailEntity,
  handler: ({ ctx, project, error }) => presentError(ctx, project, error),
})

export const updateErrorById = endpoint({
  method: 'PUT',
  path: `${path}/:error_id`,
  summary: 'Resolve, ignore or reopen an error, or link it to an issue',
  access: onError('update_errors'),
  body: { status: oneOf(errorStatuses).optional(), issue_iid: integer({ min: 1 }).nullish() },
  response: errorDetailEntity,
  async handler({ ctx, project, error, body }) {
    if (body.status === undefined && body.issue_iid === undefined) {
      throw badParameters('status, issue_iid are missing, at least one parameter must be provided')
    }
    return await presentError(ctx, project, await changeError(ctx, project, error, body))
  },
})

export const getErrorEvents = endpoint({
  method: 'GET',
  path: `${path}/:error_id/events`,
  summary: 'List the kept events of an error, newest first',
  access: onError(),
  query: paging,
  response: z.array(eventEntity),
  async handler({ ctx, project, error, query, request }) {
    const range = { limit: query.per_page, after: readCursor('number', query.cursor) }
    const page = await listEvents(ctx.db, error.id, range)
    const headers = nextLink(request.url, query, page.next && writeCursor('number', page.next))
    return new Answer(await presentEvents(ctx, project, page.items), { headers })
  },
})

export const getLatestErrorEvent = endpoint({
  method: 'GET',
  path: `${path}/:error_id/events/latest`,
  summary: 'Get the last event of an error with its stack',
  access: onError(),
  response: eventEntity,
  async handler({ ctx, project, error }) {
    const row = await findLatestEvent(ctx.db, error.id)
    const [event] = row ? await presentEvents(ctx, project, [row]) : []
    return existing(event, 'Event')
  },
})
