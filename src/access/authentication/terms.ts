import { createHash } from 'node:crypto'
import type { Config } from '../../base/config.ts'
import { forbidden } from '../../base/problem.ts'
import type { Db } from '../../store/schema.ts'
import type { ActorUser } from '../actor.ts'
import type { InstanceSettings } from '../instance-settings.ts'
import { hasAgreed } from './sign-in-queries.ts'

/** The terms that people must accept before they go on; other words are other terms. */
export interface Terms {
  readonly text: string
  readonly digest: string
}

interface TermsContext {
  readonly db: Db
  readonly config: Pick<Config, 'externalUrl'>
  readonly settings: InstanceSettings
}

let known: Terms | undefined

/** What is to be accepted; undefined where nothing is. */
export function enforcedTerms(settings: InstanceSettings): Terms | undefined {
  const text = settings.get('terms')
  if (!settings.get('enforce_terms') || text === null || text.trim() === '') return undefined
  // Each request asks, and they may be long.
  if (known?.text !== text) {
    known = { text, digest: createHash('sha256').update(text).digest('hex') }
  }
  return known
}

/** Whether somebody may go on. Bots accept nothing, and need not. */
export async function hasAcceptedTerms(
  context: Pick<TermsContext, 'db' | 'settings'>,
  user: Pick<ActorUser, 'id' | 'kind'>,
): Promise<boolean> {
  const terms = user.kind === 'human' ? enforcedTerms(context.settings) : undefined
  return terms === undefined || (await hasAgreed(context.db, user.id, terms.digest))
}

/** 403 with where to accept the terms, for programs that act for somebody who has not. */
export async function assertTermsAccepted(context: TermsContext, user: ActorUser): Promise<void> {
  if (await hasAcceptedTerms(context, user)) return
  throw forbidden(
    `You (@${user.username}) must accept the Terms of Service in order to perform this action. To accept these terms, please access Gitstead from a web browser at ${context.config.externalUrl}.`,
  )
}
