import { z } from 'zod'
import { anyone, onGroup, onProject } from '../../access/subjects.ts'
import { endpoint } from '../../http/endpoint.ts'
import { csv, filledText, flag, integer, oneOf, text } from '../../http/params.ts'
import { foundEntity, runSearch } from './run-search.ts'
import { GROUP_SCOPES, INSTANCE_SCOPES, PROJECT_SCOPES } from './scopes.ts'

const response = z.array(foundEntity)

const common = {
  search: filledText({ max: 1000 }),
  state: oneOf(['opened', 'closed', 'merged', 'all']).optional(),
  confidential: flag().optional(),
  order_by: oneOf(['created_at']).optional(),
  sort: oneOf(['asc', 'desc']).optional(),
  fields: csv(oneOf(['title', 'description'])).optional(),
  num_context_lines: integer({ min: 0, max: 20 }).optional(),
}

export const searchInstance = endpoint({
  method: 'GET',
  path: '/search',
  summary: 'Search everything that the caller may see',
  access: anyone(),
  query: { scope: oneOf(INSTANCE_SCOPES), ...common },
  paginate: 'offset',
  response,
  handler: ({ ctx, query, page, request }) =>
    runSearch(ctx, { kind: 'all' }, query, page, request.signal),
})

// Clients use either path.
function searchBelowGroup(path: '/groups/:id/search' | '/groups/:id/-/search') {
  return endpoint({
    method: 'GET',
    path,
    summary: 'Search in a group and what is below it',
    access: onGroup('read_group'),
    query: { scope: oneOf(GROUP_SCOPES), ...common },
    paginate: 'offset',
    response,
    handler: ({ ctx, group, query, page, request }) =>
      runSearch(ctx, { kind: 'group', group }, query, page, request.signal),
  })
}

export const searchGroup = searchBelowGroup('/groups/:id/search')
export const searchGroupByOtherPath = searchBelowGroup('/groups/:id/-/search')

function searchBelowProject(path: '/projects/:id/search' | '/projects/:id/-/search') {
  return endpoint({
    method: 'GET',
    path,
    summary: 'Search in a project',
    access: onProject('read_project'),
    query: { scope: oneOf(PROJECT_SCOPES), ref: text().optional(), ...common },
    paginate: 'offset',
    response,
    handler: ({ ctx, project, query, page, request }) =>
      runSearch(ctx, { kind: 'project', project }, query, page, request.signal),
  })
}

export const searchProject = searchBelowProject('/projects/:id/search')
export const searchProjectByOtherPath = searchBelowProject('/projects/:id/-/search')
