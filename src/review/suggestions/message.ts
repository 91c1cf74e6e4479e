/** What the template of a commit of suggestions may ask. */
export interface SuggestionFacts {
  readonly branchName: string
  readonly filePaths: readonly string[]
  readonly projectName: string
  readonly projectPath: string
  readonly userFullName: string
  readonly username: string
  readonly count: number
  /** Who wrote the suggestions, beside whoever applies them. */
  readonly authors: readonly { readonly name: string; readonly email: string }[]
}

const preset =
  'Apply %{suggestions_count} suggestion(s) to %{files_count} file(s)\n\n%{co_authored_by}'

/** The message of the commit; names that nobody knows stay as they are. */
export function suggestionMessage(template: string | null | undefined, facts: SuggestionFacts) {
  const values: Readonly<Record<string, string>> = {
    branch_name: facts.branchName,
    files_count: String(facts.filePaths.length),
    file_paths: facts.filePaths.join(', '),
    project_name: facts.projectName,
    project_path: facts.projectPath,
    user_full_name: facts.userFullName,
    username: facts.username,
    suggestions_count: String(facts.count),
    co_authored_by: facts.authors
      .map(({ name, email }) => `Co-authored-by: ${name} <${email}>`)
      .join('\n'),
  }
  const text = (template?.trim() ? template : preset).replaceAll(
    /%\{([a-z_]+)\}/g,
    (whole, name: string) => values[name] ?? whole,
  )
  return `${text.trimEnd()}\n`
}
