import { describeOpenKruisePage, describePages } from '../conformance/docs/index.ts';
import { startCluster } from './index.ts';

describePages('on a real control plane', startCluster);
describeOpenKruisePage(startCluster);
