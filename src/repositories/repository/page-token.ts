import { badParameters } from '../../base/problem.ts'
import { isObjectId } from '../../git/names.ts'

/**
 * The token of a tree page: the path of its last entry, since object ids repeat in a recursive listing (spec
 * B-resolved §1.1). The dot keeps it apart from the ids that older clients send.
 */
export function tokenOfPath(path: string): string {
  return `p.${Buffer.from(path, 'utf8').toString('base64url')}`
}

/** The path or object id that a token stands for. */
export function readTreeToken(token: string): string {
  if (isObjectId(token)) return token
  if (!token.startsWith('p.')) throw badParameters('page_token is invalid')
  return Buffer.from(token.slice(2), 'base64url').toString('utf8')
}
