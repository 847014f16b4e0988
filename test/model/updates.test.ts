import { testModel } from './test-model.ts';

testModel('updates');
