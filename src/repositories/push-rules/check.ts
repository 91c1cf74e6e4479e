import { userOf } from '../../access/actor.ts'
import type { Ctx } from '../../ctx.ts'
import type { NewCommit } from '../../git/history/new-commits.ts'
import { usersByEmail } from '../../identity/users/find-basic.ts'
import { cachedQuery } from '../../store/cached-query.ts'
import { branchOf, isCreation, isDeletion, type RefMove, tagOf } from '../refs/moves.ts'
import type { ObjectFacts } from '../refs/object-facts.ts'
import type { CheckedPush } from '../refs/rules.ts'
import { type Match, matcher } from './matching.ts'
import { findPushRule, type PushRuleRow } from './queries.ts'

/** Names of files that hold keys and passwords, as `prevent_secrets` refuses them (docs/contract/D §3.9). */
const patterns: readonly RegExp[] = [
  /(^|\/)(id_rsa|id_dsa|id_ed25519|id_ecdsa)$/,
  /(^|\/)[^/]*_(rsa|dsa|ed25519|ecdsa)$/,
  /\.(pem|key|p12|pkcs12|pfx|asc)$/,
  /(^|\/)aws\/credentials$/,
  /(^|\/)\.?(bash_history|zsh_history|sh_history|mysql_history|psql_history|pgpass|netrc|irb_history)$/,
  /(^|\/)(\.rhosts|\.htpasswd|jenkins\.plugins\.publish_over_ssh\.BapSshPublisherPlugin\.xml)$/,
]

/** Whether a path is that of a file with secrets. */
function isSecretFile(path: string): boolean {
  return patterns.some((pattern) => pattern.test(path))
}

function getPushRule(ctx: Pick<Ctx, 'db'>, projectId: number) {
  return cachedQuery(ctx.db, `push rule of ${projectId}`, (db) => findPushRule(db, projectId))
}

/**
 * What the project's push rule says, once everything else allows the move: the sentence of the first part that the move
 * breaks (docs/contract/D §3.9). Deletions of branches are exempt.
 */
export async function pushRuleRule(
  ctx: Ctx,
  { project, objects }: CheckedPush,
  move: RefMove,
): Promise<string | undefined> {
  const branch = branchOf(move.name)
  if (branch === undefined && tagOf(move.name) === undefined) return undefined
  const rule = await getPushRule(ctx, project.id)
  if (!rule) return undefined
  if (isDeletion(move)) {
    const denied = branch === undefined && rule.deny_delete_tag === 1
    return denied ? 'You cannot delete a tag' : undefined
  }
  const match = matcher(ctx, rule)
  const isNamed = branch !== undefined && isCreation(move) && branch !== project.default_branch
  const refused = isNamed ? await refusalOfBranch(rule, match, branch) : undefined
  if (refused !== undefined || !objects) return refused
  const given = { ctx, rule, match, objects, tip: move.newId }
  return (await refusalOfCommits(given)) ?? (await refusalOfFiles(given))
}

async function refusalOfBranch(
  { branch_name_regex: pattern }: PushRuleRow,
  match: Match,
  branch: string,
): Promise<string | undefined> {
  const fits = await match('branch_name_regex', [branch])
  if (typeof fits === 'string') return fits
  if (fits === undefined || fits[0]) return undefined
  return `Branch name '${branch}' does not follow the pattern '${pattern}'`
}

interface Given {
  readonly ctx: Ctx
  readonly rule: PushRuleRow
  readonly match: Match
  readonly objects: ObjectFacts
  readonly tip: string
}

async function refusalOfCommits(given: Given): Promise<string | undefined> {
  const { ctx, rule, match, objects, tip } = given
  const asks =
    rule.author_email_regex ||
    rule.commit_message_regex ||
    rule.commit_message_negative_regex ||
    rule.commit_committer_check ||
    rule.commit_committer_name_check ||
    rule.member_check ||
    rule.reject_unsigned_commits ||
    rule.reject_non_dco_commits
  if (!asks) return undefined
  const commits = await objects.newCommits(tip)
  const found = await findInCommits(match, commits)
  if (typeof found === 'string') return found
  for (const [at, commit] of commits.entries()) {
    const says = (fits: Fits | undefined) => fits?.[at]
    const reason =
      refusalOfMessage(rule, commit, {
        isWanted: says(found.wanted),
        isUnwanted: says(found.unwanted),
      }) ??
      refusalOfPeople(rule, commit, {
        author: says(found.authors),
        committer: says(found.committers),
      })
    if (reason !== undefined) return reason
  }
  return await refusalByUsers(ctx, rule, commits)
}

type Fits = readonly boolean[]

/** What the patterns say of each commit, or why they say nothing. */
async function findInCommits(match: Match, commits: readonly NewCommit[]) {
  const messages = commits.map((commit) => commit.message)
  const wanted = await match('commit_message_regex', messages)
  if (typeof wanted === 'string') return wanted
  const unwanted = await match('commit_message_negative_regex', messages)
  if (typeof unwanted === 'string') return unwanted
  const mails = commits.flatMap((commit) => [commit.authorEmail, commit.committerEmail])
  const people = await match('author_email_regex', mails)
  if (typeof people === 'string') return people
  const authors = people?.filter((_, at) => at % 2 === 0)
  const committers = people?.filter((_, at) => at % 2 === 1)
  return { wanted, unwanted, authors, committers }
}

function refusalOfMessage(
  rule: PushRuleRow,
  commit: NewCommit,
  says: { readonly isWanted: boolean | undefined; readonly isUnwanted: boolean | undefined },
): string | undefined {
  if (says.isWanted === false)
    return `Commit message does not follow the pattern '${rule.commit_message_regex}'`
  if (says.isUnwanted)
    return `Commit message contains the forbidden pattern '${rule.commit_message_negative_regex}'`
  const signedOff = /^Signed-off-by: .+ <.+>$/m.test(commit.message)
  if (rule.reject_non_dco_commits === 1 && !commit.merge && !signedOff)
    return 'Commit message must contain a DCO signoff'
  if (rule.reject_unsigned_commits === 1 && !commit.signed)
    return 'Commit must be signed with a GPG key'
  return undefined
}

function refusalOfPeople(
  { author_email_regex: pattern }: PushRuleRow,
  commit: NewCommit,
  fits: { readonly author: boolean | undefined; readonly committer: boolean | undefined },
): string | undefined {
  if (fits.author === false)
    return `Author's commit email '${commit.authorEmail}' does not follow the pattern '${pattern}'`
  if (fits.committer === false)
    return `Committer's commit email '${commit.committerEmail}' does not follow the pattern '${pattern}'`
  return undefined
}

/** What is asked of the people behind commits, by the addresses that users have confirmed. */
async function refusalByUsers(
  ctx: Ctx,
  rule: PushRuleRow,
  commits: readonly NewCommit[],
): Promise<string | undefined> {
  const pusher = userOf(ctx.actor)
  const asksMails = rule.member_check === 1 || rule.commit_committer_check === 1
  const users = asksMails
    ? await usersByEmail(
        ctx,
        commits.flatMap((commit) => [commit.authorEmail, commit.committerEmail]),
      )
    : new Map()
  for (const commit of commits) {
    if (rule.member_check === 1 && !users.has(commit.authorEmail.toLowerCase()))
      return `Author '${commit.authorEmail}' is not a member of team`
    const committer = users.get(commit.committerEmail.toLowerCase())
    if (rule.commit_committer_check === 1 && committer?.id !== pusher?.id)
      return `You cannot push commits for '${commit.committerEmail}'. You can only push commits if the committer email is one of your own verified emails.`
    if (rule.commit_committer_name_check === 1 && commit.committerName !== pusher?.name)
      return 'Your git username is inconsistent with your account name'
  }
  return undefined
}

async function refusalOfFiles({ rule, match, objects, tip }: Given): Promise<string | undefined> {
  const { file_name_regex: pattern, max_file_size: limit } = rule
  if (!pattern && limit === 0 && rule.prevent_secrets === 0) return undefined
  const files = await objects.newFiles(tip, { sizes: limit > 0 })
  const prohibited = await match(
    'file_name_regex',
    files.map((file) => file.path),
  )
  if (typeof prohibited === 'string') return prohibited
  for (const [at, file] of files.entries()) {
    if (prohibited?.[at])
      return `File name ${file.path} was prohibited by the pattern '${pattern}'.`
    if (rule.prevent_secrets === 1 && file.added && isSecretFile(file.path))
      return `File name ${file.path} was prohibited: it is likely to hold secrets.`
    if (limit > 0 && file.size > limit * 1024 * 1024)
      return `File "${file.path}" is larger than the allowed size of ${limit} MiB. Use Git LFS to manage this file.`
  }
  return undefined
}
