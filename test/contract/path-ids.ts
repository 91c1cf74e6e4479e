import type { Ids, Place } from './records.ts'

/** Which record a path parameter names, by what comes before it; the first that fits. */
const RULES: readonly (readonly [RegExp, string])[] = [
  [/issues\/:issue_iid\/notes\/:note_id\/award_emoji\/:award_id$/, 'issue_note_emoji_id'],
  [/issues\/:issue_iid\/award_emoji\/:award_id$/, 'issue_emoji_id'],
  [/issues\/:issue_iid\/discussions\/:discussion_id\/notes\/:note_id$/, 'issue_discussion_note_id'],
  [/issues\/:issue_iid\/discussions\/:discussion_id$/, 'issue_discussion_id'],
  [/issues\/:issue_iid\/notes\/:note_id$/, 'issue_note_id'],
  [
    /merge_requests\/:merge_request_iid\/notes\/:note_id\/award_emoji\/:award_id$/,
    'request_note_emoji_id',
  ],
  [/merge_requests\/:merge_request_iid\/award_emoji\/:award_id$/, 'request_emoji_id'],
  [
    /merge_requests\/:merge_request_iid\/discussions\/:discussion_id\/notes\/:note_id$/,
    'request_discussion_note_id',
  ],
  [/merge_requests\/:merge_request_iid\/discussions\/:discussion_id$/, 'request_discussion_id'],
  [/merge_requests\/:merge_request_iid\/notes\/:note_id$/, 'request_note_id'],
  [/merge_requests\/:merge_request_iid\/approval_rules\/:approval_rule_id$/, 'request_rule_id'],
  [/snippets\/:snippet_id\/notes\/:note_id\/award_emoji\/:award_id$/, 'snippet_note_emoji_id'],
  [/snippets\/:snippet_id\/award_emoji\/:award_id$/, 'snippet_emoji_id'],
  [
    /snippets\/:snippet_id\/discussions\/:discussion_id\/notes\/:note_id$/,
    'snippet_discussion_note_id',
  ],
  [/snippets\/:snippet_id\/discussions\/:discussion_id$/, 'snippet_discussion_id'],
  [/snippets\/:snippet_id\/notes\/:note_id$/, 'snippet_note_id'],
  [/commits\/:sha\/discussions\/:discussion_id\/notes\/:note_id$/, 'commit_note_id'],
  [/commits\/:sha\/discussions\/:discussion_id$/, 'commit_discussion_id'],
  [/service_accounts\/:user_id\/personal_access_tokens\/:token_id$/, 'account_token_id'],
  [/service_accounts\/:user_id$/, 'account_id'],
  [/deploy_tokens\/:token_id$/, 'deploy_token_id'],
  [/blobs\/:sha$/, 'blob'],
]

/** Values of parameters that mean the same wherever they stand. */
const FIXED: Ids = {
  tag_name: 'v1',
  branch: 'spare',
  file_path: 'a.txt',
  slug: 'home',
  key: 'word',
  format: 'tar.gz',
  version_id: '1',
}

/** The path of an endpoint with the ids of a place, overridden by those of an example. */
export function pathIn(place: Place | undefined, template: string, own: Ids = {}): string {
  const ids = /^\/groups?\//.test(template) ? place?.group : place?.project
  return template.replaceAll(/[:*](\w+)/g, (whole, name: string, at: number) => {
    const value = own[name] ?? known(ids, template.slice(0, at) + whole, name) ?? FIXED[name] ?? '1'
    return whole.startsWith('*') ? value : encodeURIComponent(value)
  })
}

function known(ids: Ids | undefined, before: string, name: string): string | undefined {
  const rule = RULES.find(([pattern]) => pattern.test(before))
  return ids?.[rule ? rule[1] : name]
}
