import { z } from 'zod'
import { onProject, signedIn } from '../../access/subjects.ts'
import { endpoint } from '../../http/endpoint.ts'
import { instant, oneOf } from '../../http/params.ts'
import { callerId } from '../../identity/users/find-user.ts'
import {
  onCaller,
  onProjectSnippet,
  onSnippet,
  setsVisibility,
  setsVisibilityOrDefault,
} from './access.ts'
import { snippetEntity } from './entity.ts'
import { eitherFilesOrContent, firstActions, newFilesBody } from './input.ts'
import { factsBody, listSnippets, readSnippet, userAgentIn } from './shared.ts'
import { snippetEndpoints } from './single-endpoints.ts'
import { createSnippet } from './verbs.ts'

const query = {
  created_after: instant().optional(),
  created_before: instant().optional(),
}

const storageQuery = { ...query, repository_storage: oneOf(['default']).optional() }

export const listOwnSnippets = endpoint({
  method: 'GET',
  path: '/snippets',
  summary: 'List the snippets that the caller wrote',
  access: signedIn(),
  query,
  paginate: 'offset',
  response: z.array(snippetEntity),
  handler: ({ ctx, query, page }) => listSnippets(ctx, { ...query, authorId: callerId(ctx) }, page),
})

export const listPublicSnippets = endpoint({
  method: 'GET',
  path: '/snippets/public',
  summary: 'List public snippets that belong to no project',
  access: signedIn(),
  query,
  paginate: 'offset',
  response: z.array(snippetEntity),
  handler: ({ ctx, query, page }) => listSnippets(ctx, { ...query, publicOnly: true }, page),
})

export const listAllSnippets = endpoint({
  method: 'GET',
  path: '/snippets/all',
  summary: 'List all snippets that the caller may see; administrators see every one',
  access: signedIn(),
  query: storageQuery,
  paginate: 'offset',
  response: z.array(snippetEntity),
  handler: ({ ctx, query, page }) => listSnippets(ctx, query, page),
})

export const postPersonalSnippet = endpoint({
  method: 'POST',
  path: '/snippets',
  summary: 'Make a snippet that belongs to no project',
  access: onCaller('create_snippet'),
  body: { ...factsBody, visibility: factsBody.visibility.optional(), ...newFilesBody },
  check: eitherFilesOrContent,
  conditions: [setsVisibilityOrDefault],
  response: snippetEntity,
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

export const singleSnippets = snippetEndpoints({
  path: '/snippets/:id',
  what: 'a snippet',
  read: onSnippet(),
  edit: onSnippet('edit_snippet'),
  admin: onSnippet('admin_instance'),
})

export const listProjectSnippets = endpoint({
  method: 'GET',
  path: '/projects/:id/snippets',
  summary: 'List the snippets of a project',
  access: onProject('read_snippets'),
  paginate: 'offset',
  response: z.array(snippetEntity),
  handler: ({ ctx, project, page }) => listSnippets(ctx, { projectId: project.id }, page),
})

export const postProjectSnippet = endpoint({
  method: 'POST',
  path: '/projects/:id/snippets',
  summary: 'Make a snippet in a project',
  access: onProject('create_snippet', { signedIn: true }),
  body: { ...factsBody, ...newFilesBody },
  check: eitherFilesOrContent,
  conditions: [setsVisibility],
  response: snippetEntity,
  async handler({ ctx, project, body, request }) {
    const snippetId = await createSnippet(ctx, project, {
      title: body.title,
      description: body.description ?? null,
      visibility: body.visibility,
      actions: firstActions(ctx, body),
      userAgent: userAgentIn(request),
    })
    return readSnippet(ctx, snippetId, project)
  },
})

export const projectSnippets = snippetEndpoints({
  path: '/projects/:id/snippets/:snippet_id',
  what: 'a snippet of a project',
  read: onProjectSnippet(),
  edit: onProjectSnippet('edit_snippet', { signedIn: true }),
  admin: onProjectSnippet('admin_only', { signedIn: true }),
})
