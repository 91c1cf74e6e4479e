import { z } from 'zod'
import { signedIn } from '../../access/subjects.ts'
import { notFound } from '../../base/problem.ts'
import { presentSuggestion, suggestionEntity } from '../../discussions/notes/suggestion-entity.ts'
import { endpoint } from '../../http/endpoint.ts'
import { csv, id, text } from '../../http/params.ts'
import { applySuggestions } from './apply.ts'

const commit_message = text({ max: 10_000 }).optional()

export const applySuggestion = endpoint({
  method: 'PUT',
  path: '/suggestions/:suggestion_id/apply',
  summary: 'Take a suggestion over as a commit on the source branch',
  access: signedIn(),
  params: { suggestion_id: id() },
  body: { commit_message },
  response: suggestionEntity,
  async handler({ ctx, params, body }) {
    const [row] = await applySuggestions(ctx, [params.suggestion_id], body.commit_message)
    if (!row) throw notFound('Suggestion')
    return presentSuggestion(row)
  },
})

export const applySuggestionBatch = endpoint({
  method: 'PUT',
  path: '/suggestions/batch_apply',
  summary: 'Apply several suggestions in one commit on the source branch',
  access: signedIn(),
  body: { ids: csv(id(), { max: 100 }), commit_message },
  response: z.array(suggestionEntity),
  async handler({ ctx, body }) {
    const rows = await applySuggestions(ctx, body.ids, body.commit_message)
    return rows.map((row) => presentSuggestion(row))
  },
})
