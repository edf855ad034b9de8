// Print the joints' positions of ten states, each the newest one: a program in C++, made from joint_stream.proto.
//
// protoc --cpp_out=. --grpc_out=. --plugin=protoc-gen-grpc=$(which grpc_cpp_plugin) joint_stream.proto
// g++ -std=c++17 joint_stream_state.cpp joint_stream.pb.cc joint_stream.grpc.pb.cc
//     $(pkg-config --cflags --libs grpc++ protobuf) -o joint_stream_state
// ./joint_stream_state unix:/tmp/humanoid_control_$(id -u)_joint_stream/domain_0.sock
#include <cstdio>

#include <grpcpp/grpcpp.h>

#include "joint_stream.grpc.pb.h"

using namespace humanoid_control::joint_stream::v1;

int main(int count, char** words) {
  if (count != 2) return 2;
  auto channel = grpc::CreateChannel(words[1], grpc::InsecureChannelCredentials());
  auto robot = JointStream::NewStub(channel);
  Config config;
  grpc::ClientContext asking;
  if (auto status = robot->GetConfig(&asking, {}, &config); !status.ok()) {
    std::fprintf(stderr, "%s\n", status.error_message().c_str());
    return 1;
  }
  grpc::ClientContext reading;
  auto states = robot->StreamStates(&reading);
  State state;
  for (int number = 0; number < 10; ++number) {
    if (!states->Write({}) || !states->Read(&state)) {  // each request brings the newest state
      std::fprintf(stderr, "%s\n", states->Finish().error_message().c_str());
      return 1;
    }
    for (int joint = 0; joint < config.joints_size(); ++joint)
      std::printf("%s %.4f\n", config.joints(joint).name().c_str(), state.position(joint));
  }
  reading.TryCancel();
  return 0;
}
