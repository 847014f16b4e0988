/** Path at which the host tells tools the outputs of the stack, such as the name of a table. */
export const OUTPUTS_PATH = '/outputs.json';
