import type { Notice, Notification } from './notification.ts'
import type { SubjectRow } from './queries.ts'

/** What happened, as a sentence about the one who did it. */
export function sentenceOf(
  notification: Notification,
  author: string,
  subject: SubjectRow,
  /** Whom it concerns before others: `you`, or their names. */
  whom: string,
): string {
  const what =
    notification.type === 'Issue' ? `issue #${subject.iid}` : `merge request !${subject.iid}`
  const branches = `${subject.source_branch} into ${subject.target_branch}`
  const sentences: Partial<Record<Notification['event'], string>> = {
    new_issue: `${author} created ${what}: ${subject.title}`,
    close_issue: `${author} closed ${what}.`,
    reopen_issue: `${author} reopened ${what}.`,
    reassign_issue: `${author} assigned ${what} to ${whom}.`,
    issue_due: `Issue #${subject.iid} is due tomorrow.`,
    new_merge_request: `${author} wants to merge ${branches}: ${subject.title}`,
    close_merge_request: `${author} closed ${what}.`,
    reopen_merge_request: `${author} reopened ${what}.`,
    merge_merge_request: `${author} merged ${what}: ${branches}.`,
    merge_when_pipeline_succeeds: `${author} set ${what} to be merged once all its checks pass.`,
    approve_merge_request: `${author} approved ${what}.`,
    reassign_merge_request: `${author} assigned ${what} to ${whom}.`,
    change_reviewer_merge_request: `${author} asked ${whom} to review ${what}.`,
    push_to_merge_request: `${author} pushed to ${what}.`,
    new_note: `${author} commented on ${what}:`,
    mentioned: `${author} mentioned you in ${what}.`,
  }
  return sentences[notification.event] ?? `${author} changed ${what}.`
}

export const REASONS: Readonly<Record<Notice['reason'], string>> = {
  mentioned: 'you were mentioned',
  assigned: 'you are assigned',
  review_requested: 'your review was asked for',
  subscribed: 'you take part in it',
  watching: 'you follow this project',
}
