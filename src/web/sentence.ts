import { Problem } from '../base/problem.ts'
import { answerFor } from '../http/errors.ts'

/** What a refusal says, without the number of its status: `name has already been taken`. */
export function sentenceOf(error: unknown): string {
  if (error instanceof Problem && error.fields) {
    const entries = Object.entries(error.fields)
    // `project_namespace.name` says again, for programs, what `name` says.
    const plain = entries.filter(([field]) => !field.includes('.'))
    return (plain.length > 0 ? plain : entries)
      .flatMap(([field, texts]) => texts.map((one) => `${field.replaceAll('_', ' ')} ${one}`))
      .join('; ')
  }
  const { body } = answerFor(error)
  const message = typeof body === 'string' ? body : (body.message ?? body.error)
  const said = Array.isArray(message) ? message.join('; ') : message
  const plain = typeof said === 'string' ? said : JSON.stringify(said ?? '')
  return plain.replace(/^\d{3} (?:Forbidden|Bad request|Conflict) - /i, '').replace(/^\d{3} /, '')
}
