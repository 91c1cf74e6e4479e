/** What is sealed as a variable that a job hands on. */
export const DOTENV_PURPOSE = 'ci_job_variables.value'
