import { z } from 'zod'
import { onInstance, signedIn } from '../../access/subjects.ts'
import { bytes, endpoint } from '../../http/endpoint.ts'
import { id, instant, oneOf } from '../../http/params.ts'
import { userAgentEntity } from '../../identity/user-agents/verbs.ts'
import { callerId } from '../../identity/users/find-user.ts'
import {
  getSnippet,
  onCaller,
  onSnippet,
  setsVisibility,
  setsVisibilityOrDefault,
} from './access.ts'
import { snippetEntity } from './entity.ts'
import { eitherFilesOrContent, firstActions, newFilesBody, nextActions } from './input.ts'
import { removeSnippet } from './remove.ts'
import {
  changeBody,
  factsBody,
  fileParams,
  listSnippets,
  presentSnippet,
  rawSnippet,
  readSnippet,
  userAgentIn,
  userAgentOf,
} from './shared.ts'
import { changeSnippet, createSnippet } from './verbs.ts'

const tags = ['snippets']

const query = {
  created_after: instant().optional(),
  created_before: instant().optional(),
}

const storageQuery = { ...query, repository_storage: oneOf(['default']).optional() }

function created(query: {
  created_after?: string | undefined
  created_before?: string | undefined
}) {
  return { createdAfter: query.created_after, createdBefore: query.created_before }
}

export const listOwnSnippets = endpoint({
  method: 'GET',
  path: '/snippets',
  summary: 'List the snippets that the caller wrote',
  tags,
  access: signedIn(),
  query,
  paginate: 'offset',
  response: z.array(snippetEntity),
  handler: ({ ctx, query, page }) =>
    listSnippets(ctx, { authorId: callerId(ctx), ...created(query) }, page),
})

export const listPublicSnippets = endpoint({
  method: 'GET',
  path: '/snippets/public',
  summary: 'List public snippets that belong to no project',
  tags,
  access: signedIn(),
  query,
  paginate: 'offset',
  response: z.array(snippetEntity),
  handler: ({ ctx, query, page }) =>
    listSnippets(ctx, { publicOnly: true, ...created(query) }, page),
})

export const listAllSnippets = endpoint({
  method: 'GET',
  path: '/snippets/all',
  summary: 'List all snippets that the caller may see; administrators see every one',
  tags,
  access: signedIn(),
  query: storageQuery,
  paginate: 'offset',
  response: z.array(snippetEntity),
  handler: ({ ctx, query, page }) => listSnippets(ctx, created(query), page),
})

export const getPersonalSnippet = endpoint({
  method: 'GET',
  path: '/snippets/:id',
  summary: 'Get a snippet',
  tags,
  access: onSnippet(),
  response: snippetEntity,
  handler: ({ ctx, snippet }) => presentSnippet(ctx, snippet),
})

export const postPersonalSnippet = endpoint({
  method: 'POST',
  path: '/snippets',
  summary: 'Make a snippet that belongs to no project',
  tags,
  access: onCaller('create_snippet'),
  body: { ...factsBody, visibility: factsBody.visibility.optional(), ...newFilesBody },
  check: eitherFilesOrContent,
  conditions: [setsVisibilityOrDefault],
  response: snippetEntity,
  status: 201,
  async handler({ ctx, body, request }) {
    const snippetId = await createSnippet(ctx, null, {
      title: body.title,
      description: body.description ?? null,
      visibility: body.visibility ?? ctx.settings.get('default_snippet_visibility'),
      actions: firstActions(ctx, body),
      userAgent: userAgentIn(request),
    })
    return readSnippet(ctx, snippetId)
  },
})

export const putPersonalSnippet = endpoint({
  method: 'PUT',
  path: '/snippets/:id',
  summary: 'Change a snippet or its files',
  tags,
  access: onSnippet('edit_snippet'),
  body: changeBody,
  conditions: [setsVisibility],
  response: snippetEntity,
  async handler({ ctx, snippet, body }) {
    await changeSnippet(ctx, snippet, body, (paths) => nextActions(ctx, body, paths))
    return readSnippet(ctx, snippet.row.id)
  },
})

export const deletePersonalSnippet = endpoint({
  method: 'DELETE',
  path: '/snippets/:id',
  summary: 'Delete a snippet with its repository',
  tags,
  access: onSnippet('edit_snippet'),
  handler: ({ ctx, snippet }) => removeSnippet(ctx, snippet.row.id),
})

export const getPersonalSnippetRaw = endpoint({
  method: 'GET',
  path: '/snippets/:id/raw',
  summary: 'Download the first file of a snippet',
  tags,
  access: onSnippet(),
  response: bytes('text/plain'),
  handler: ({ ctx, snippet, request }) => rawSnippet(ctx, snippet, request),
})

export const getPersonalSnippetFile = endpoint({
  method: 'GET',
  path: '/snippets/:id/files/:ref/:file_path/raw',
  summary: 'Download a file of a snippet as a revision has it',
  tags,
  access: onSnippet(),
  params: fileParams,
  response: bytes('text/plain'),
  handler: ({ ctx, snippet, params: { ref, file_path: path }, request }) =>
    rawSnippet(ctx, snippet, request, { ref, path }),
})

export const getPersonalSnippetUserAgent = endpoint({
  method: 'GET',
  path: '/snippets/:id/user_agent_detail',
  summary: 'Tell from where a snippet was made',
  tags,
  access: onInstance(),
  params: { id: id() },
  response: userAgentEntity,
  handler: async ({ ctx, params }) => userAgentOf(await getSnippet(ctx, params.id)),
})
